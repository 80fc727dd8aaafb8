package datagen

import "strings"

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
	companyEnds  = list("Inc,and Sons,LLC,Group")
	// phoneForms are the separators before each of the three parts of a number.
	phoneForms     = [][3]string{{"", "-", "-"}, {"(", ") ", "-"}, {"1-", "-", "-"}, {"", ".", "."}}
	extensionForms = [3]string{" x###", " x####", " x#####"}
)
