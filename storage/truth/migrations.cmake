# Turns numbered SQL files into one C source: cmake -DOUT=x.c "-DFILES=a.sql;b.sql" -P migrations.cmake
# Each becomes a terminated byte array, listed in hub_migrations in the order given.
set(text "/* Made from migrations/ at build time. */\n#include \"storage/truth/hubdb.h\"\n\n")
set(rows "")
set(i 0)
foreach(file IN LISTS FILES)
  get_filename_component(name ${file} NAME)
  file(READ ${file} hex HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
  string(APPEND text "static const char sql_${i}[] = {${bytes}0};\n")
  string(APPEND rows "    {\"${name}\", sql_${i}},\n")
  math(EXPR i "${i} + 1")
endforeach()
file(WRITE ${OUT} "${text}\nconst struct hub_migration hub_migrations[] = {\n${rows}    {0, 0},\n};\n")
