def schema_problems(r): return []
def total_problems(r): return []
