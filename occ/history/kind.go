package history

import "fmt"

// kinds is how many kinds of event there are.
const kinds = 5

var kindNames = [kinds]string{"read-only", "validated", "committed", "aborted", "in doubt"}

// String returns the kind as it is printed and saved.
func (k Kind) String() string {
	if int(k) < kinds {
		return kindNames[k]
	}
	return fmt.Sprintf("kind %d", uint8(k))
}

// kindNamed is the inverse of Kind.String for the known kinds.
func kindNamed(name string) (Kind, bool) {
	for k, n := range kindNames {
		if n == name {
			return Kind(k), true
		}
	}
	return 0, false
}
