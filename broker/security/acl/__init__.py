"""ACLs and the authorizer that judges by them."""
