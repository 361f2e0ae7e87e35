// Package history judges a recorded run: does what the clients saw agree with
// one serial order of commits? Because the commit order is the version order,
// no search is needed: the checker reads the events once, as they end, in time
// linear in their reads and writes (times the logarithm of the window).
//
// # What is checked
//
// The numbers are those of the protocol's invariants.
//
//   - 4, snapshot: a read-only transaction has lo ≤ hi ≤ the newest commit, and
//     every version it read is its block's version at every timestamp of
//     [lo, hi].
//   - 4, freshness: lo is at least every stable timestamp that was applied
//     strictly before Begin − Epsilon. A commit applied at exactly that instant
//     may be missed: the promise is "committed before t0 − ε", and with ε = 0 on
//     a coarse clock a commit of the same tick may really have come later. A
//     transaction whose timestamp was chosen by its program is exempt.
//   - 5, reads: every version that the transaction committed at c read is its
//     block's version at c − 1 (at c, if it was only validated).
//   - 5, order: commit timestamps are 1, 2, 3, … without repetition or gap.
//   - 6, causality: of one client, a transaction that began after another ended
//     has a timestamp at least as large. The timestamp is lo for a read-only
//     transaction, Commit for the others. An aborted attempt has none, but it
//     raises the floor of later ones to the largest From that it saw. A chosen
//     timestamp may lie anywhere, but raises the floor of later ones too.
//   - 11, opacity: the versions that an attempt read are valid together at one
//     timestamp. With intervals [from, to) they are valid together from the
//     largest from up to the smallest to; if that range is not empty it contains
//     the largest from, so that one timestamp decides. The versions seen at an
//     earlier read are a subset, whose common range is no smaller, so that
//     judging the whole read set judges every read. Rules 4 and 5 put all
//     versions at one timestamp already; hence only aborted attempts are judged
//     by this rule, and those with NoOpacity are exempt.
//
// A read of a version that no commit wrote is a violation of its own in every
// event, and so are two versions of one block in one event that is not exempt
// from opacity. An event yields at most one violation about its reads (the
// first), besides those of freshness and causality.
//
// # What the history must contain
//
// Every commit, those that build the starting image included, from timestamp 1.
// A commit whose client never learned its outcome is given to the checker in
// one of two ways. [Checker.Unknown] says what the server's log holds and loses
// nothing. [Checker.InDoubt] says only that one such commit exists: for each, one
// missing timestamp is forgiven, and a read of a version that begins at a
// forgiven timestamp is believed. What such an attempt read can be recorded as
// an [Aborted] event.
//
// Freshness is as strong as the times given to [Checker.Applied]. The server's
// own apply times make it exact. Times at which the observing process saw
// acknowledgements come later than the commits; with them the check raises no
// false alarm, but may miss a staleness smaller than that delay.
//
// # Memory
//
// An event waits until all commits up to the largest timestamp that it mentions
// are known; [Options].Pending bounds how many wait. Options.Window bounds the
// history kept: of every block written the version current at the start of the
// window and the later ones, per client one entry for each rise of its floor
// inside the window, and one entry for each stable timestamp. Besides, each gap
// that had to be passed over costs one entry for good. What would need history
// that is gone is counted as TooOld, never as fine and never as a violation.
package history
