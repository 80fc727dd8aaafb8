package group

// The values of the columns of each table, in the order of the fields: what a
// statement without gorm is given.

func (p *Place) args(dst []any) []any {
	return append(dst, p.Address, p.City, p.Region, p.PostalCode, p.Country)
}

func (s *Stamps) args(dst []any) []any { return append(dst, s.CreatedOn, s.UpdatedOn) }

func (r *customer) args(dst []any) []any {
	dst = append(dst, r.CustomerID, r.CompanyName, r.ContactName, r.ContactTitle)
	dst = r.Place.args(dst)
	dst = append(dst, r.Phone, r.Fax)
	return r.Stamps.args(dst)
}

func (r *order) args(dst []any) []any {
	dst = append(dst, r.OrderID, r.CustomerID, r.EmployeeID, r.OrderDate, r.RequiredDate, r.ShippedDate, r.ShipVia, r.Freight, r.ShipName, r.ShipAddress, r.ShipCity, r.ShipRegion, r.ShipPostalCode, r.ShipCountry)
	return r.Stamps.args(dst)
}

func (r *orderDetail) args(dst []any) []any {
	dst = append(dst, r.OrderID, r.ProductID, r.UnitPrice, r.Quantity, r.Discount)
	return r.Stamps.args(dst)
}

func (r *category) args(dst []any) []any {
	dst = append(dst, r.CategoryID, r.CategoryName, r.Description, r.Tag, r.Picture)
	return r.Stamps.args(dst)
}

func (r *employee) args(dst []any) []any {
	dst = append(dst, r.EmployeeID, r.LastName, r.FirstName, r.Title, r.TitleOfCourtesy, r.BirthDate, r.HireDate)
	dst = r.Place.args(dst)
	dst = append(dst, r.HomePhone, r.Extension, r.Photo, r.Notes, r.ReportsTo, r.PhotoPath)
	return r.Stamps.args(dst)
}

func (r *employeeTerritory) args(dst []any) []any {
	dst = append(dst, r.EmployeeID, r.TerritoryID)
	return r.Stamps.args(dst)
}

func (r *product) args(dst []any) []any {
	dst = append(dst, r.ProductID, r.ProductName, r.SupplierID, r.CategoryID, r.QuantityPerUnit, r.UnitPrice, r.UnitsInStock, r.UnitsOnOrder, r.ReorderLevel, r.Discontinued)
	return r.Stamps.args(dst)
}

func (r *region) args(dst []any) []any {
	dst = append(dst, r.RegionID, r.RegionDescription)
	return r.Stamps.args(dst)
}

func (r *shipper) args(dst []any) []any {
	dst = append(dst, r.ShipperID, r.CompanyName, r.Phone)
	return r.Stamps.args(dst)
}

func (r *supplier) args(dst []any) []any {
	dst = append(dst, r.SupplierID, r.CompanyName, r.ContactName, r.ContactTitle)
	dst = r.Place.args(dst)
	dst = append(dst, r.Phone, r.Fax, r.HomePage)
	return r.Stamps.args(dst)
}

func (r *territory) args(dst []any) []any {
	dst = append(dst, r.TerritoryID, r.TerritoryDescription, r.RegionID)
	return r.Stamps.args(dst)
}
