module packlist/tests/queues/lib

go 1.24.0
