package client

//go:generate go tool mockgen -source=transport.go -destination=mock_transport_test.go -package=client_test -write_package_comment=false
