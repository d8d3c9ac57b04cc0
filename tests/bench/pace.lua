-- dofile'd by wrk scripts of the same folder: env EVERY, the mean pause in ms of a connection between an answer and its next request.
-- Without it each connection asks again at once, so that a latency says how many requests a second are answered.
local mean = tonumber(os.getenv("EVERY") or "0")
if mean > 0 then
  function delay() return math.random(0, 2 * mean) end
end
