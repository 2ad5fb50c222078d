module example.test/bank-sandbox

go 1.19
