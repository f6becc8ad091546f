UPDATE probe SET at = $1
