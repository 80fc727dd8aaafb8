package measure

import "fmt"

// AllCalls is what CallsOf says where all that was called counts.
const AllCalls = "all calls"

// CallsOf names what a figure over several operations is of, where so many of those that were called count in
// the unit of the run: all calls, or "the 3 counted operations". With 0 that count, it is not known how many do.
func CallsOf(counted, called int) string {
	switch counted {
	case called:
		return AllCalls
	case 0:
		return "the counted operations"
	case 1:
		return "the counted operation"
	}
	return fmt.Sprintf("the %d counted operations", counted)
}
