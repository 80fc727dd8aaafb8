// Package northwind makes the objects that operations write: rows of the Northwind
// model as in PadoGrid's factories, and what these have in common with objects defined
// in a file.
package northwind

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/perfbench/perfbench/internal/datagen"
)

// Entity is one table of the Northwind model, with how its objects are made.
type Entity struct {
	// Word is the singular, for factory.class; Name is the name of the table.
	Word, Name string
	// PK are the columns of the primary key; an object's id is the first of them.
	PK []string
	// make returns the object for a maker, with the id and, if it is a child, the id of
	// its parent.
	make func(m *maker) Record
	// blank returns an empty object, for a database to fill.
	blank func() Record
	// Object is the user's definition; nil for Northwind's tables, which have make and
	// blank.
	Object *datagen.Object
}

// Record is an object: a pointer to one of the structs below.
type Record interface {
	// Args appends the values of the columns, in the order of the fields.
	Args(dst []any) []any
}

func (e *Entity) class() string {
	return string(e.Word[0]-'a'+'A') + e.Word[1:] + "FactoryImpl"
}

// maker is what an object is made from.
type maker struct {
	d      *datagen.Dice
	id     string
	parent string
	n      int64
	today  time.Time
	f      *Factory
}

// Stamps are the last columns of every table.
type Stamps struct {
	CreatedOn time.Time `json:"createdOn" gorm:"column:createdOn;autoCreateTime:milli;precision:3"`
	UpdatedOn time.Time `json:"updatedOn" gorm:"column:updatedOn;autoUpdateTime:milli;precision:3"`
}

// Place is an address.
type Place struct {
	Address    string `json:"address" gorm:"column:address;size:100"`
	City       string `json:"city" gorm:"column:city;size:50"`
	Region     string `json:"region" gorm:"column:region;size:10"`
	PostalCode string `json:"postalCode" gorm:"column:postalCode;size:10"`
	Country    string `json:"country" gorm:"column:country;size:100"`
}

func placeOf(d *datagen.Dice) Place {
	return Place{d.Address(), d.City(), d.State(), d.Zip(), d.Country()}
}

type customer struct {
	CustomerID   string `json:"customerId" gorm:"column:customerId;size:20;primaryKey"`
	CompanyName  string `json:"companyName" gorm:"column:companyName;size:50"`
	ContactName  string `json:"contactName" gorm:"column:contactName;size:50"`
	ContactTitle string `json:"contactTitle" gorm:"column:contactTitle;size:50"`
	Place
	Phone string `json:"phone" gorm:"column:phone;size:30"`
	Fax   string `json:"fax" gorm:"column:fax;size:30"`
	Stamps
}

type order struct {
	OrderID        string    `json:"orderId" gorm:"column:orderId;size:20;primaryKey"`
	CustomerID     string    `json:"customerId" gorm:"column:customerId;size:20"`
	EmployeeID     string    `json:"employeeId" gorm:"column:employeeId;size:20"`
	OrderDate      time.Time `json:"orderDate" gorm:"column:orderDate;precision:3"`
	RequiredDate   time.Time `json:"requiredDate" gorm:"column:requiredDate;precision:3"`
	ShippedDate    time.Time `json:"shippedDate" gorm:"column:shippedDate;precision:3"`
	ShipVia        string    `json:"shipVia" gorm:"column:shipVia;size:50"`
	Freight        float64   `json:"freight" gorm:"column:freight"`
	ShipName       string    `json:"shipName" gorm:"column:shipName;size:50"`
	ShipAddress    string    `json:"shipAddress" gorm:"column:shipAddress;size:100"`
	ShipCity       string    `json:"shipCity" gorm:"column:shipCity;size:50"`
	ShipRegion     string    `json:"shipRegion" gorm:"column:shipRegion;size:10"`
	ShipPostalCode string    `json:"shipPostalCode" gorm:"column:shipPostalCode;size:10"`
	ShipCountry    string    `json:"shipCountry" gorm:"column:shipCountry;size:100"`
	Stamps
}

type orderDetail struct {
	OrderID   string  `json:"orderId" gorm:"column:orderId;size:20;primaryKey"`
	ProductID string  `json:"productId" gorm:"column:productId;size:20;primaryKey"`
	UnitPrice float64 `json:"unitPrice" gorm:"column:unitPrice"`
	Quantity  int     `json:"quantity" gorm:"column:quantity"`
	Discount  float64 `json:"discount" gorm:"column:discount"`
	Stamps
}

type category struct {
	CategoryID   string `json:"categoryId" gorm:"column:categoryId;size:20;primaryKey"`
	CategoryName string `json:"categoryName" gorm:"column:categoryName;size:50"`
	Description  string `json:"description" gorm:"column:description;size:200"`
	Tag          string `json:"tag" gorm:"column:tag;size:50"`
	Picture      string `json:"picture" gorm:"column:picture;size:100"`
	Stamps
}

type employee struct {
	EmployeeID      string    `json:"employeeId" gorm:"column:employeeId;size:20;primaryKey"`
	LastName        string    `json:"lastName" gorm:"column:lastName;size:50"`
	FirstName       string    `json:"firstName" gorm:"column:firstName;size:50"`
	Title           string    `json:"title" gorm:"column:title;size:50"`
	TitleOfCourtesy string    `json:"titleOfCourtesy" gorm:"column:titleOfCourtesy;size:10"`
	BirthDate       time.Time `json:"birthDate" gorm:"column:birthDate;precision:3"`
	HireDate        time.Time `json:"hireDate" gorm:"column:hireDate;precision:3"`
	Place
	HomePhone string `json:"homePhone" gorm:"column:homePhone;size:30"`
	Extension string `json:"extension" gorm:"column:extension;size:10"`
	Photo     string `json:"photo" gorm:"column:photo;size:100"`
	Notes     string `json:"notes" gorm:"column:notes;size:200"`
	ReportsTo string `json:"reportsTo" gorm:"column:reportsTo;size:20"`
	PhotoPath string `json:"photoPath" gorm:"column:photoPath;size:100"`
	Stamps
}

type employeeTerritory struct {
	EmployeeID  string `json:"employeeId" gorm:"column:employeeId;size:20;primaryKey"`
	TerritoryID string `json:"territoryId" gorm:"column:territoryId;size:20;primaryKey"`
	Stamps
}

type product struct {
	ProductID       string  `json:"productId" gorm:"column:productId;size:20;primaryKey"`
	ProductName     string  `json:"productName" gorm:"column:productName;size:50"`
	SupplierID      string  `json:"supplierId" gorm:"column:supplierId;size:20"`
	CategoryID      string  `json:"categoryId" gorm:"column:categoryId;size:20"`
	QuantityPerUnit string  `json:"quantityPerUnit" gorm:"column:quantityPerUnit;size:50"`
	UnitPrice       float64 `json:"unitPrice" gorm:"column:unitPrice"`
	UnitsInStock    int     `json:"unitsInStock" gorm:"column:unitsInStock"`
	UnitsOnOrder    int     `json:"unitsOnOrder" gorm:"column:unitsOnOrder"`
	ReorderLevel    int     `json:"reorderLevel" gorm:"column:reorderLevel"`
	Discontinued    int     `json:"discontinued" gorm:"column:discontinued"`
	Stamps
}

type region struct {
	RegionID          string `json:"regionId" gorm:"column:regionId;size:20;primaryKey"`
	RegionDescription string `json:"regionDescription" gorm:"column:regionDescription;size:50"`
	Stamps
}

type shipper struct {
	ShipperID   string `json:"shipperId" gorm:"column:shipperId;size:20;primaryKey"`
	CompanyName string `json:"companyName" gorm:"column:companyName;size:50"`
	Phone       string `json:"phone" gorm:"column:phone;size:30"`
	Stamps
}

type supplier struct {
	SupplierID   string `json:"supplierId" gorm:"column:supplierId;size:20;primaryKey"`
	CompanyName  string `json:"companyName" gorm:"column:companyName;size:50"`
	ContactName  string `json:"contactName" gorm:"column:contactName;size:50"`
	ContactTitle string `json:"contactTitle" gorm:"column:contactTitle;size:50"`
	Place
	Phone    string `json:"phone" gorm:"column:phone;size:30"`
	Fax      string `json:"fax" gorm:"column:fax;size:30"`
	HomePage string `json:"homePage" gorm:"column:homePage;size:100"`
	Stamps
}

type territory struct {
	TerritoryID          string `json:"territoryId" gorm:"column:territoryId;size:20;primaryKey"`
	TerritoryDescription string `json:"territoryDescription" gorm:"column:territoryDescription;size:50"`
	RegionID             string `json:"regionId" gorm:"column:regionId;size:20"`
	Stamps
}

// entities are all tables of the model.
var entities = []*Entity{
	{"customer", "customers", []string{"customerId"}, makeCustomer, func() Record { return &customer{} }, nil},
	{"order", "orders", []string{"orderId"}, makeOrder, func() Record { return &order{} }, nil},
	{"orderdetail", "order_details", []string{"orderId", "productId"}, makeOrderDetail, func() Record { return &orderDetail{} }, nil},
	{"product", "products", []string{"productId"}, makeProduct, func() Record { return &product{} }, nil},
	{"category", "categories", []string{"categoryId"}, makeCategory, func() Record { return &category{} }, nil},
	{"employee", "employees", []string{"employeeId"}, makeEmployee, func() Record { return &employee{} }, nil},
	{"employeeterritory", "employee_territories", []string{"employeeId", "territoryId"}, makeEmployeeTerritory, func() Record { return &employeeTerritory{} }, nil},
	{"region", "regions", []string{"regionId"}, makeRegion, func() Record { return &region{} }, nil},
	{"shipper", "shippers", []string{"shipperId"}, makeShipper, func() Record { return &shipper{} }, nil},
	{"supplier", "suppliers", []string{"supplierId"}, makeSupplier, func() Record { return &supplier{} }, nil},
	{"territory", "territories", []string{"territoryId"}, makeTerritory, func() Record { return &territory{} }, nil},
}

// orParent returns the foreign key: the parent's id, or a made-up one.
func (m *maker) orParent() string {
	if m.parent != "" {
		return m.parent
	}
	return m.d.SSN()
}

func (m *maker) stamps() Stamps {
	if !m.f.Born.IsZero() {
		return Stamps{m.f.Born, m.f.Born}
	}
	return Stamps{m.today, m.today}
}

func makeCustomer(m *maker) Record {
	d := m.d
	return &customer{m.id, d.Company(), d.Last(), d.Title(), placeOf(d), d.Phone(true), d.Phone(false), m.stamps()}
}

func makeOrder(m *maker) Record {
	d := m.d
	o := &order{OrderID: m.id, EmployeeID: d.SSN(), Stamps: m.stamps()}
	o.OrderDate = d.After(m.today.AddDate(0, 0, -7), 7)
	o.RequiredDate, o.ShippedDate = d.After(m.today, 20), d.After(o.OrderDate, 5)
	o.CustomerID = m.orParent()
	if m.f != nil && m.f.Coherence {
		o.RequiredDate, o.ShippedDate = d.After(o.OrderDate, 10), d.After(o.OrderDate, 14)
		if m.parent == "" {
			c := *m.f
			c.Prefix = m.f.CustomerPrefix
			o.CustomerID = string(c.Key(nil, d.Below(m.f.CustomerMax)))
			if c.Length <= 0 || !c.Zeros {
				o.CustomerID = c.Prefix + fmt.Sprint(d.Below(m.f.CustomerMax))
			}
		}
	}
	o.ShipVia, o.Freight, o.ShipName = fmt.Sprint(d.Between(1, 5)), d.Money(100), d.Company()
	p := placeOf(d)
	o.ShipAddress, o.ShipCity, o.ShipRegion, o.ShipPostalCode, o.ShipCountry = p.Address, p.City, p.Region, p.PostalCode, p.Country
	return o
}

// makeOrderDetail makes a line of an order: it belongs to its parent if it is a child,
// and its own number is that of the product.
func makeOrderDetail(m *maker) Record {
	d := m.d
	o := &orderDetail{OrderID: m.id, ProductID: fmt.Sprintf("p%06d", d.Between(1, 999999)), Stamps: m.stamps()}
	if m.parent != "" {
		o.OrderID, o.ProductID = m.parent, m.id
	}
	o.UnitPrice, o.Quantity, o.Discount = d.Money(500), int(d.Between(1, 100)), float64(d.Below(6))/20
	return o
}

func makeProduct(m *maker) Record {
	d := m.d
	return &product{
		m.id, d.Words(2), d.SSN(), m.orParent(), fmt.Sprintf("%d boxes of %d", d.Between(1, 50), d.Between(2, 24)), d.Money(300),
		int(d.Below(500)), int(d.Below(100)), int(d.Below(30)), int(d.Below(2)), m.stamps(),
	}
}

func makeCategory(m *maker) Record {
	d := m.d
	return &category{m.id, d.Words(1), d.Words(8), d.Words(1), "pictures/" + m.id + ".png", m.stamps()}
}

func makeEmployee(m *maker) Record {
	d := m.d
	e := &employee{EmployeeID: m.id, LastName: d.Last(), FirstName: d.First(), Title: d.Title(), TitleOfCourtesy: d.One([]string{"Mr.", "Ms.", "Mrs.", "Dr."}), Stamps: m.stamps()}
	e.BirthDate = m.today.AddDate(-60, 0, 0).AddDate(0, 0, int(d.Below(40*365)))
	e.HireDate = e.BirthDate.AddDate(18, 0, int(d.Below(700)))
	e.Place, e.HomePhone, e.Extension = placeOf(d), d.Phone(false), d.Digits("####")
	e.Photo, e.Notes, e.ReportsTo, e.PhotoPath = m.id+".png", d.Words(6), m.orParent(), "photos/"+m.id+".png"
	return e
}

func makeEmployeeTerritory(m *maker) Record {
	t := &employeeTerritory{m.id, m.d.Digits("t#####"), m.stamps()}
	if m.parent != "" {
		t.EmployeeID, t.TerritoryID = m.parent, m.id
	}
	return t
}

func makeRegion(m *maker) Record {
	return &region{m.id, m.d.CityPrefix() + " " + m.d.Last(), m.stamps()}
}

func makeShipper(m *maker) Record { return &shipper{m.id, m.d.Company(), m.d.Phone(true), m.stamps()} }

func makeSupplier(m *maker) Record {
	d := m.d
	return &supplier{m.id, d.Company(), d.Last(), d.Title(), placeOf(d), d.Phone(true), d.Phone(false), "https://example.com/" + m.id, m.stamps()}
}

func makeTerritory(m *maker) Record { return &territory{m.id, m.d.City(), m.orParent(), m.stamps()} }

// Object makes the object with a number, for an operation.
func (f *Factory) Object(n int64, parent string, today time.Time) (id string, r Record) {
	id = f.ID(n)
	m := &maker{d: datagen.NewDice(f.Seed, f.Entity.Name, n, ""), id: id, parent: parent, n: n, today: today, f: f}
	r = f.Entity.make(m)
	if o, ok := r.(*order); ok && f.Joined {
		id = o.OrderID + "." + o.CustomerID
	}
	return id, r
}

// Value returns an object in the form for a map: JSON.
func Value(r Record) []byte {
	b, err := json.Marshal(r)
	if err != nil { // cannot fail: the structs hold text, numbers and times
		return []byte("{}")
	}
	return b
}
