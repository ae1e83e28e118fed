package graph_test

import _ "pgregory.net/rapid"
