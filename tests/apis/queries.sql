-- watermark
SELECT window.start AS start, device, count(*) AS n, max(v) AS top
FROM eventtide_watermark(
  TABLE(SELECT * FROM STREAM events), ts, with_fixed_lag('5s'),
  substream => device, expected => 2)
GROUP BY window(ts, '10 seconds'), device;

-- join
SELECT a.device, a.ts, b.ts AS next
FROM eventtide_watermark(TABLE(SELECT * FROM STREAM events), ts, with_fixed_lag('5s')) AS a
JOIN eventtide_watermark(TABLE(SELECT * FROM STREAM events), ts, with_fixed_lag('5s')) AS b
ON a.device = b.device AND b.ts > a.ts AND b.ts <= a.ts + INTERVAL 5 SECONDS;

-- tumbling
SELECT *
FROM eventtide_window(
  TABLE(SELECT * FROM STREAM events), ts, with_fixed_lag('5s'), key_by => device,
  size => '10s', agg => 'count(*) AS n, max(v) AS top');

-- sliding
SELECT *
FROM eventtide_window(
  TABLE(SELECT * FROM STREAM events), ts, with_fixed_lag('5s'),
  decorators => throttle_by_frame('2s'),
  substream => device, expected => array('a', 'b'), key_by => device,
  size => INTERVAL 10 SECONDS, slide => '2s', delay => '1 second', late_rule => 'frame_closed',
  agg => 'count(*) AS n, max(v) AS top');

-- cumulate
SELECT *
FROM eventtide_window(
  TABLE(SELECT * FROM STREAM events), ts, with_fixed_lag('5s'), key_by => device,
  size => '10s', step => '5s', agg => (count(*) AS n, max(v) AS top));

-- session
SELECT *
FROM eventtide_window(
  TABLE(SELECT * FROM STREAM events), ts, with_fixed_lag('5s'), key_by => device,
  gap => '3s', maximum_duration => '20s', agg => 'count(*) AS n, max(v) AS top');

-- row_gap
SELECT *
FROM eventtide_window(
  TABLE(SELECT * FROM STREAM events), ts, with_fixed_lag('5s'), key_by => device,
  gap => CASE WHEN v > 4 THEN '5 seconds' ELSE '2 seconds' END,
  agg => 'count(*) AS n, max(v) AS top');

-- by_count
SELECT *
FROM eventtide_window(
  TABLE(SELECT * FROM STREAM events), ts, with_fixed_lag('5s'), key_by => device,
  rows => 3, slide => 2, agg => 'count(*) AS n, max(v) AS top');

-- key_time
SELECT *
FROM eventtide_window(
  TABLE(SELECT * FROM STREAM events), ts, with_fixed_lag('5s'), key_by => device,
  size => '10s', scope => 'key', key_idle_timeout => '20s', key_idle_clock => 'event_time',
  agg => 'count(*) AS n, max(v) AS top');

-- panes
SELECT *
FROM eventtide_window(
  TABLE(SELECT * FROM STREAM events), ts, with_fixed_lag('5s'), key_by => device,
  size => '10s', allowed_lateness => '10s', late_updates => true,
  triggers => (at_window_end, every_rows(2), when(n >= 3)),
  agg => 'count(*) AS n, max(v) AS top');

-- calendar
SELECT *
FROM eventtide_window(
  TABLE(SELECT * FROM STREAM events), ts, with_fixed_lag('5s'), key_by => device,
  size => INTERVAL 1 DAY, time_zone => 'Europe/Berlin', agg => 'count(*) AS n, max(v) AS top');

-- storm
SELECT *
FROM eventtide_window(
  TABLE(SELECT * FROM STREAM events), ts, storm('5s'), decorators => emit_every('1ms'),
  substream => concat('default'), expected => array('default'), key_by => device,
  length => '10s', slide => 2, agg => 'count(*) AS n, max(v) AS top');

-- voltsp
SELECT *
FROM eventtide_window(
  TABLE(SELECT * FROM STREAM events), ts, min_event_time, key_by => device,
  size => '10s', scope => 'key', profile => 'voltsp', agg => 'count(*) AS n, max(v) AS top')
