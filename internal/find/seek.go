package find

import (
	"context"
	"errors"
	"strings"
	"time"
)

// errUp means that the time of a search was up in the middle of a step that was not clear yet.
var errUp = errors.New("the time of the search is up")

// Bench is a load whose level can be set, and which reports what each second was like.
type Bench interface {
	// Set puts a level into force; 0 means as much as possible.
	Set(level float64)
	// Next waits for the next second that lies entirely after the last Set.
	Next(ctx context.Context) (Second, error)
	// Widen allows more calls to be in progress if the failed seconds show that there
	// were too few. It reports whether the level is worth trying again.
	Widen(failed []Second) bool
	// Width returns how many calls may be in progress, and Narrow sets that to an earlier number.
	Width() int
	Narrow(width int)
}

// Seek is a search on a bench by conditions.
type Seek struct {
	Conditions []Condition
	Choice     Choice
	// Time is how long the whole search may take, by the run's clock; 0: no limit.
	Time time.Duration
	// Sounded takes what was done without a limit, where the search begins with that, and returns how much that would be of
	// what a level consists of; may be nil: as much.
	Sounded func(Tried) float64
	// Trying takes the try in progress, as it begins and after each of its seconds; may be nil.
	Trying func(Trying)
	// Ours reports whether a try that has just ended, and did not hold, says nothing of the store because perfbench or its
	// machine was measured; nil: none does.
	Ours func(Tried) bool
	// Waits returns what kept perfbench or its machine from measuring the store in a try that has just ended, if the same
	// level is to be tried again in a while, when that may be over; "" if not. It may be nil.
	Waits func(Tried) string
}

// Trying is a try in progress.
type Trying struct {
	Level float64
	// Again means that the level was tried before.
	Again bool
	// Seconds is how many of its seconds have been judged, Most how many may be.
	Seconds, Most int
	// Waits is what it waits for to pass before it begins, and Seconds and Most are those of the wait; empty if it has begun.
	Waits string
	// Open is what leaves it unclear as yet; empty if it holds so far, or has too few seconds to tell.
	Open string
	// IfHolds and IfNot are the levels that come after it; 0 if that is not known.
	IfHolds, IfNot float64
}

// Told reports whether the seconds of a try say something.
func (t *Trying) Told() bool { return t.Seconds >= leastSeconds }

// How many seconds a step is observed: until the result is clear, which may be at once,
// and longer if much depends on it.
const (
	leastSeconds, mostSeconds      = 2, 6
	carefulSeconds, patientSeconds = 5, 12
)

// shortest is how long a step takes at least, with the second of the change.
const shortest = (1 + leastSeconds) * time.Second

// usualStep is how long a step takes at most that is not careful, and carefulStep how long one that is takes if it holds, both with the
// second of the change.
const usualStep, carefulStep = (1 + mostSeconds) * time.Second, (1 + carefulSeconds) * time.Second

// waitSeconds is how long a search waits for what kept perfbench or its machine from measuring the store.
const waitSeconds = 8

// wait lets seconds pass at a level for why to be over. It ends early where the time of the search would be up.
func (k Seek) wait(ctx context.Context, b Bench, level float64, why string, end int64) error {
	for n := range waitSeconds {
		k.Trying(Trying{Level: level, Waits: why, Seconds: n, Most: waitSeconds})
		next, err := b.Next(ctx)
		if err != nil {
			return err
		}
		if k.Time > 0 && next.To+int64(shortest) > end {
			return nil
		}
	}
	return nil
}

// Find searches. Without a level to start at, it starts at a quarter of what the store
// achieves without a limit. Each level is tried with the width with which the highest one up to it
// held: what is gained by more calls in progress counts only where a level holds thanks to them, or
// came much closer to that. A level that is in doubt with more of them is tried again with as many.
func (k Seek) Find(ctx context.Context, b Bench, found func(Tried)) (Range, error) {
	now, end := int64(0), int64(0)
	enough := 0 // the width beyond which more did not help; 0: none is known
	first, helped, held := b.Width(), 0, map[float64]int{}
	var doubted *Tried // the try before the last one, which had fewer, if the last one is to be tried again
	fewer := 0         // the width of that with fewer
	try := func(ctx context.Context, level float64, careful bool) (Tried, error) {
		before := doubted
		if before == nil || before.Rate != level {
			before = nil
			b.Narrow(widthFor(level, held, first, helped))
		}
		again, clear := before != nil, false
		doubted = nil
		for {
			s, list, err := k.try(ctx, b, level, careful, &end)
			if err != nil {
				return s, err
			}
			now = s.To
			width := b.Width()
			s.Width, s.clear = width, clear
			s.Ours = !s.Held && k.Ours != nil && k.Ours(s)
			if s.Ours && k.Waits != nil && !(k.Time > 0 && now+int64(waitSeconds*time.Second+shortest) > end) {
				if why := k.Waits(s); why != "" {
					found(s)
					clear = clear || !s.Doubtful
					if err := k.wait(ctx, b, level, why, end); err != nil {
						return s, err
					}
					continue
				}
			}
			_, has := held[level]
			if before != nil && !s.Held {
				switch better := k.better(*before, s); {
				case s.Doubtful && !again && k.Choice.Confirm:
					doubted = before
				case better:
					helped = max(helped, width)
				case !s.Doubtful && alikeFailed(*before, s):
					enough, s.Vain = fewer, true
				}
			}
			switch {
			case s.Held:
				held[level] = width
			case !s.Ours:
				delete(held, level)
			}
			if s.Held || doubted != nil || s.Ours && has || enough > 0 && width >= enough || !b.Widen(list) {
				return s, nil
			}
			found(s)
			before, fewer = &s, width
		}
	}
	k.foretell()
	if k.Time > 0 {
		up := k.Choice.Up
		k.Choice.Up = func() bool { return now > 0 && now+int64(shortest) > end || up != nil && up() }
		k.Choice.Last = func() bool { return now > 0 && now+int64(usualStep+carefulStep) > end }
	}
	if k.Choice.Start == 0 {
		s, err := k.sound(ctx, b)
		if err != nil {
			return Range{}, err
		}
		most := s.Done
		if k.Sounded != nil {
			most = k.Sounded(s)
		}
		end = s.From + int64(k.Time)
		k.Choice.Start = max(rounded(most/4), 1)
		if k.Choice.High > 0 {
			k.Choice.Start = min(k.Choice.Start, k.Choice.High)
		}
		k.Choice.Start = max(k.Choice.Start, k.Choice.Low)
	}
	return k.Choice.Find(ctx, try, found)
}

// foretell makes Trying know what comes after each try, and whether its level was tried before.
func (k *Seek) foretell() {
	told := k.Trying
	if told == nil {
		k.Trying = func(Trying) {}
		return
	}
	var holds, not float64
	k.Choice.Ahead = func(ifHolds, ifNot float64) { holds, not = ifHolds, ifNot }
	seen, again := map[float64]bool{}, false
	k.Trying = func(t Trying) {
		if t.Seconds == 0 {
			again, seen[t.Level] = seen[t.Level], true
		}
		t.Again, t.IfHolds, t.IfNot = again, holds, not
		told(t)
	}
}

// widthFor returns the width to try a level with: that with which it held; else that with which the highest level
// below it did, or the first, and no less than the one that has helped another level.
func widthFor(level float64, held map[float64]int, first, helped int) int {
	if w, ok := held[level]; ok {
		return w
	}
	best, width := 0.0, first
	for l, w := range held {
		if l < level && l > best {
			best, width = l, w
		}
	}
	return max(width, helped)
}

// muchBetter is the fraction of a figure at which it is much better.
const muchBetter = 0.5

// better reports whether a level that did not hold came much closer to that when it was tried again, by the condition
// that did not hold at first.
func (k Seek) better(before, again Tried) bool {
	why := reason(before.Why)
	for i, c := range k.Conditions {
		if c.Text == why && i < len(before.Readings) && i < len(again.Readings) {
			return again.Readings[i].Value <= muchBetter*before.Readings[i].Value
		}
	}
	return false
}

// alikeFailed reports whether a level that did not hold failed for the same reason when it was tried again, with hardly
// more done.
func alikeFailed(before, again Tried) bool {
	return reason(before.Why) == reason(again.Why) && again.Done <= alike*before.Done
}

// reason is why a level did not hold, without the evidence: the condition, or that the backlog grew.
func reason(why string) string {
	why, _, _ = strings.Cut(why, ":")
	return strings.TrimSuffix(strings.TrimSuffix(why, didNot), notClear)
}

// sound makes the store do as much as it can for a moment.
func (k Seek) sound(ctx context.Context, b Bench) (Tried, error) {
	b.Set(0)
	var list []Second
	for range leastSeconds {
		s, err := b.Next(ctx)
		if err != nil {
			return Tried{}, err
		}
		list = append(list, s)
	}
	return summed(list), nil
}

// try applies a level until it is clear whether it holds, or for as long as that may
// take. end is when the time of the search is up, by the run's clock; 0 until the first second of a
// search that has no other. A step that is not clear by then, and has not had the seconds of a
// usual one, is none.
func (k Seek) try(ctx context.Context, b Bench, level float64, careful bool, end *int64) (Tried, []Second, error) {
	least, most := leastSeconds, mostSeconds
	if careful {
		least, most = carefulSeconds, patientSeconds
	}
	b.Set(level)
	var list []Second
	k.Trying(Trying{Level: level, Most: most})
	for {
		next, err := b.Next(ctx)
		if err != nil {
			return Tried{}, nil, err
		}
		if list = append(list, next); *end == 0 {
			*end = next.From + int64(k.Time)
		}
		was, s := judge(k.Conditions, list)
		s.Rate = level
		switch {
		case len(list) < leastSeconds, was == held && len(list) < least:
		case was != unclear:
			return s, list, nil
		case len(list) >= most, k.Time > 0 && next.To >= *end && len(list) >= mostSeconds:
			return lean(k.Conditions, s, list), list, nil
		case k.Time > 0 && next.To >= *end:
			return Tried{}, nil, errUp
		}
		t := Trying{Level: level, Seconds: len(list), Most: most}
		if was == unclear && t.Told() {
			t.Open = stillOpen(k.Conditions, list)
		}
		k.Trying(t)
	}
}
