"""Writers: a recording as files of other forms, one file a table."""
