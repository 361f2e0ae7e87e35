package server

//go:generate go tool mockgen -source=wal/log.go -destination=mock_log_test.go -package=server -write_package_comment=false
