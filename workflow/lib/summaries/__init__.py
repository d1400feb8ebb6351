"""The paper's tables from the tables of a run: one module each, pure functions from data frames to summaries."""

TABLES = ("table1", "table2", "table3", "table4", "table5")
ABLATION = "ablation"
FORMATS = ("parquet", "csv", "md", "tex", "html")
