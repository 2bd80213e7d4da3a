! grep -rq BROKEN src
