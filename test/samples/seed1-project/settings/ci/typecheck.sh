test -d docs
