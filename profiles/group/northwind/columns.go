package northwind

// The values of each table's columns, in the order of the fields, for statements that
// do not use gorm.

// Args appends the values of the columns.
func (p *Place) Args(dst []any) []any {
	return append(dst, p.Address, p.City, p.Region, p.PostalCode, p.Country)
}

// Args appends the values of the columns.
func (s *Stamps) Args(dst []any) []any { return append(dst, s.CreatedOn, s.UpdatedOn) }

// Args appends the values of the columns.
func (r *customer) Args(dst []any) []any {
	dst = append(dst, r.CustomerID, r.CompanyName, r.ContactName, r.ContactTitle)
	dst = r.Place.Args(dst)
	dst = append(dst, r.Phone, r.Fax)
	return r.Stamps.Args(dst)
}

// Args appends the values of the columns.
func (r *order) Args(dst []any) []any {
	dst = append(dst, r.OrderID, r.CustomerID, r.EmployeeID, r.OrderDate, r.RequiredDate, r.ShippedDate, r.ShipVia, r.Freight, r.ShipName, r.ShipAddress, r.ShipCity, r.ShipRegion, r.ShipPostalCode, r.ShipCountry)
	return r.Stamps.Args(dst)
}

// Args appends the values of the columns.
func (r *orderDetail) Args(dst []any) []any {
	dst = append(dst, r.OrderID, r.ProductID, r.UnitPrice, r.Quantity, r.Discount)
	return r.Stamps.Args(dst)
}

// Args appends the values of the columns.
func (r *category) Args(dst []any) []any {
	dst = append(dst, r.CategoryID, r.CategoryName, r.Description, r.Tag, r.Picture)
	return r.Stamps.Args(dst)
}

// Args appends the values of the columns.
func (r *employee) Args(dst []any) []any {
	dst = append(dst, r.EmployeeID, r.LastName, r.FirstName, r.Title, r.TitleOfCourtesy, r.BirthDate, r.HireDate)
	dst = r.Place.Args(dst)
	dst = append(dst, r.HomePhone, r.Extension, r.Photo, r.Notes, r.ReportsTo, r.PhotoPath)
	return r.Stamps.Args(dst)
}

// Args appends the values of the columns.
func (r *employeeTerritory) Args(dst []any) []any {
	dst = append(dst, r.EmployeeID, r.TerritoryID)
	return r.Stamps.Args(dst)
}

// Args appends the values of the columns.
func (r *product) Args(dst []any) []any {
	dst = append(dst, r.ProductID, r.ProductName, r.SupplierID, r.CategoryID, r.QuantityPerUnit, r.UnitPrice, r.UnitsInStock, r.UnitsOnOrder, r.ReorderLevel, r.Discontinued)
	return r.Stamps.Args(dst)
}

// Args appends the values of the columns.
func (r *region) Args(dst []any) []any {
	dst = append(dst, r.RegionID, r.RegionDescription)
	return r.Stamps.Args(dst)
}

// Args appends the values of the columns.
func (r *shipper) Args(dst []any) []any {
	dst = append(dst, r.ShipperID, r.CompanyName, r.Phone)
	return r.Stamps.Args(dst)
}

// Args appends the values of the columns.
func (r *supplier) Args(dst []any) []any {
	dst = append(dst, r.SupplierID, r.CompanyName, r.ContactName, r.ContactTitle)
	dst = r.Place.Args(dst)
	dst = append(dst, r.Phone, r.Fax, r.HomePage)
	return r.Stamps.Args(dst)
}

// Args appends the values of the columns.
func (r *territory) Args(dst []any) []any {
	dst = append(dst, r.TerritoryID, r.TerritoryDescription, r.RegionID)
	return r.Stamps.Args(dst)
}
