// Package chaos shows by counting that commits happen exactly once while
// servers are killed and connections fail.
//
// A Fleet of clients increments counters on a server in a process of its own:
// each client its own counter, and sometimes one of a few that all share.
// Readers with several freshness bounds look on. Meanwhile somebody kills the
// server, restarts it on its directory and its port (proc.Server), or cuts the
// connections (Proxy). Clients are told nothing of it and get no error. In the
// end the counters have to agree with the acknowledgements to the last one,
// every reader has to have seen sums that agree, and the history of all
// transactions has to be one that the protocol allows.
package chaos
