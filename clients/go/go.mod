module github.com/paymesh/paymesh-go

go 1.19
