package client

// BootClock is the clock of a DB whose options name none.
var BootClock = processClock.now
