"""The ACL matrix: every API in worlds of ACLs, some enumerated and some drawn. See worlds and requests_*."""
