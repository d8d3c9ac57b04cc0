-- wrk script: a random line of a file each time. env: URLS file with one path a line, as wrk sends it; " N" behind it: a range of N bytes
-- URLS=/tmp/urls wrk -t2 -c8 -d5s -s urls.lua http://127.0.0.1:8080
local dir = debug.getinfo(1, "S").source:match("^@(.*/)") or "./"
local report = dofile(dir .. "report.lua")
local urls, id = {}, 0
function setup(thread) thread:set("tid", id); id = id + 1 end
function init(args)
  math.randomseed(11 + tid)
  for line in io.lines(os.getenv("URLS")) do
    local path, range = line:match("^(%S+) ?(%d*)$")
    local headers = range ~= "" and { ["Range"] = "bytes=0-" .. tonumber(range) - 1 } or nil
    urls[#urls + 1] = wrk.format("GET", path, headers)
  end
end
function request() return urls[math.random(#urls)] end
done = function(s, l, r) report(s, l) end
