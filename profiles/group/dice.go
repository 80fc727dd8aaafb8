package group

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strings"
	"time"
)

// dice makes up the values of one object. The same seed, kind and number make the
// same values, on whatever thread and in whatever order. The generator is our own:
// a few lists of words do what is needed here, and a library's lists would change
// the data of old seeds with each of its releases.
type dice struct {
	rnd rand.PCG
}

func newDice(seed int64, kind string, n int64, what string) *dice {
	h := fnv.New64a()
	_, _ = h.Write([]byte(kind)) // never fails
	_, _ = h.Write([]byte{0})
	_, _ = h.Write([]byte(what))
	d := &dice{}
	d.rnd.Seed(uint64(seed)*0x9E3779B97F4A7C15^h.Sum64(), uint64(n)*0xD1B54A32D192ED03+1)
	return d
}

// below returns a number in [0, n).
func (d *dice) below(n int64) int64 { return int64(d.rnd.Uint64() % uint64(n)) } // the bias of the remainder is below n/2^64

// between returns a number in [lo, hi].
func (d *dice) between(lo, hi int64) int64 { return lo + d.below(hi-lo+1) }

// zipf returns 1 most often, 2 half as often, 3 a third as often … up to n.
func (d *dice) zipf(n int64) int64 {
	sum := 0.0
	for k := int64(1); k <= n; k++ {
		sum += 1 / float64(k)
	}
	at := float64(d.rnd.Uint64()>>11) / (1 << 53) * sum
	for k := int64(1); k < n; k++ {
		if at -= 1 / float64(k); at < 0 {
			return k
		}
	}
	return n
}

func (d *dice) one(list []string) string { return list[d.below(int64(len(list)))] }

// digits replaces each # by a digit.
func (d *dice) digits(pattern string) string {
	b := []byte(pattern)
	for i := range b {
		if b[i] == '#' {
			b[i] = byte('0' + d.below(10))
		}
	}
	return string(b)
}

// ssn is an id of 11 characters in the form of a Swedish personal number that is
// none: its month is above 12.
func (d *dice) ssn() string {
	sign := "-"
	if d.below(2) == 0 {
		sign = "+"
	}
	return fmt.Sprintf("%02d%02d%02d%s%04d", d.below(100), d.between(13, 99), d.below(100), sign, d.below(10000))
}

// ids is how many ids of that form there are.
const ids = 100 * 87 * 100 * 2 * 10000

// randomID is an id in that form which no other number below ids has, with the same
// seed and kind: rows that were told apart by chance alone would now and then be the
// same one. It shuffles the numbers of 35 bits until it hits one below ids.
func randomID(seed int64, kind string, n int64) string {
	h := fnv.New64a()
	_, _ = h.Write([]byte(kind)) // never fails
	key := (uint64(seed)+0x632BE59BD9B4E019)*0x9E3779B97F4A7C15 ^ h.Sum64()
	const mask = 1<<35 - 1
	x := (uint64(n)%ids + ids) % ids
	for {
		for round := range uint64(3) {
			x = (x + key>>(round*13)) & mask
			x = x * 0x2C1B3C6D & mask // odd, so that no two become one
			x ^= x >> 17
			x = x * 0x297A2D39 & mask
			x ^= x >> 16
		}
		if x < ids {
			break
		}
	}
	digit := func(of uint64) uint64 {
		v := x % of
		x /= of
		return v
	}
	tail, sign, days, month := digit(10000), digit(2), digit(100), digit(87)
	return fmt.Sprintf("%02d%02d%02d%c%04d", x, 13+month, days, "-+"[sign], tail)
}

func (d *dice) last() string  { return d.one(lastNames) }
func (d *dice) first() string { return d.one(firstNames) }

func (d *dice) company() string {
	switch d.below(6) {
	case 0:
		return d.last() + "-" + d.last()
	case 1:
		return d.last() + ", " + d.last() + " and " + d.last()
	}
	return d.last() + " " + d.one([]string{"Inc", "and Sons", "LLC", "Group"})
}

func (d *dice) title() string {
	t := d.one(fields) + " " + d.one(positions)
	if d.below(3) > 0 {
		t = d.one(ranks) + " " + t
	}
	return t
}

func (d *dice) city() string {
	switch d.below(3) {
	case 0:
		return d.one(cityPrefixes) + " " + d.first() + d.one(citySuffixes)
	case 1:
		return d.one(cityPrefixes) + " " + d.last()
	}
	return d.last() + d.one(citySuffixes)
}

func (d *dice) state() string   { return d.one(states) }
func (d *dice) country() string { return d.one(countries) }

func (d *dice) zip() string {
	if d.below(2) == 0 {
		return d.digits("#####")
	}
	return d.digits("#####-####")
}

func (d *dice) address() string {
	var b strings.Builder
	switch d.below(4) {
	case 0:
		b.WriteString(d.digits("Apt. ### "))
	case 1:
		b.WriteString(d.digits("Suite ### "))
	}
	fmt.Fprintf(&b, "%d %s %s, %s, %s %s", d.between(100, 99999), d.last(), d.one(streets), d.city(), d.state(), d.zip())
	return b.String()
}

// phone is a number of the United States; with extensions, some have one.
func (d *dice) phone(extensions bool) string {
	s := fmt.Sprintf(d.one([]string{"%d-%d-%04d", "(%d) %d-%04d", "1-%d-%d-%04d", "%d.%d.%04d"}), d.between(201, 989), d.between(200, 999), d.below(10000))
	if extensions && d.below(3) == 0 {
		s += d.digits([]string{" x###", " x####", " x#####"}[d.below(3)])
	}
	return s
}

// money is an amount with two decimals below most.
func (d *dice) money(most int64) float64 { return float64(d.below(most*100+1)) / 100 }

// after returns a moment up to so many days after t, in milliseconds.
func (d *dice) after(t time.Time, days int64) time.Time {
	return t.Add(time.Duration(d.below(days*24*3600*1000)+1) * time.Millisecond)
}

func (d *dice) words(n int64) string {
	out := make([]string, n)
	for i := range out {
		out[i] = d.one(goods)
	}
	return strings.Join(out, " ")
}

func list(s string) []string { return strings.Split(s, ",") }

var (
	lastNames = list("Abbott,Bauer,Conroy,Daniel,Ernser,Fisher,Gleason,Hansen,Ivers,Jacobs,Keeling,Lang,Miller,Nolan,Osinski,Parker,Quigley,Reilly,Schmidt,Torp,Ullrich,Vance,Weber,Yost,Ziemann," +
		"Adler,Becker,Carver,Doyle,Eaton,Foster,Graves,Holt,Irwin,Jensen,Kirk,Lowe,Marsh,Norris,Owens,Pierce,Quinn,Rhodes,Stone,Tate,Upton,Vogel,Walsh,York,Zimmer")
	firstNames   = list("Ada,Ben,Clara,Dean,Ella,Finn,Grace,Hugo,Ida,Jack,Kate,Leo,Mia,Noah,Olga,Paul,Quincy,Rosa,Sam,Tina,Uma,Victor,Wendy,Xavier,Yara,Zeno")
	fields       = list("Marketing,Sales,Accounting,Legal,Design,Construction,Mining,Education,Farming,Banking,Retail,Technology,Consulting,Manufacturing,Hospitality")
	positions    = list("Manager,Officer,Agent,Supervisor,Engineer,Analyst,Director,Coordinator,Assistant,Consultant,Planner,Representative")
	ranks        = list("Senior,Junior,Lead,Chief,Principal,Global,Regional,National")
	cityPrefixes = list("North,East,West,South,New,Lake,Port")
	citySuffixes = list("town,ton,land,ville,berg,burgh,borough,bury,view,port,mouth,stad,fort,haven,side,shire")
	streets      = list("Alley,Avenue,Bridge,Court,Drive,Field,Garden,Hill,Lane,Mews,Parkway,Ridge,Road,Square,Street,Trail,Way")
	states       = list("AL,AK,AZ,AR,CA,CO,CT,DE,FL,GA,HI,ID,IL,IN,IA,KS,KY,LA,ME,MD,MA,MI,MN,MS,MO,MT,NE,NV,NH,NJ,NM,NY,NC,ND,OH,OK,OR,PA,RI,SC,SD,TN,TX,UT,VT,VA,WA,WV,WI,WY")
	countries    = list("Argentina,Australia,Austria,Belgium,Brazil,Canada,Chile,Denmark,Egypt,Finland,France,Germany,Ghana,Greece,India,Ireland,Italy,Japan,Kenya,Mexico,Morocco,Netherlands,New Zealand,Norway,Peru,Poland,Portugal,Spain,Sweden,Switzerland,Thailand,Turkey,United Kingdom,United States of America,Uruguay,Vietnam")
	goods        = list("green,tea,roasted,coffee,dark,chocolate,smoked,salmon,fresh,bread,aged,cheese,wild,honey,olive,oil,sweet,pepper,sea,salt,apple,cider,red,lentils,brown,rice,dried,mango,white,beans,ginger,syrup")
)
