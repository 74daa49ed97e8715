const MS_PER_DAY = 86_400_000;

/** When the day of an instant began, ms since 1970 (UTC). */
export function startOfDay(atMs: number): number {
  return Math.floor(atMs / MS_PER_DAY) * MS_PER_DAY;
}

/**
 * Before which instant the records of a trail are too old, ms since 1970. Age is measured from now, but from no later
 * than the end of the newest day with records before today: a clock that is far ahead removes nothing as long as it has
 * not been so for a day with records.
 *
 * @param beforeTodayMs any instant of that day; null: there is none
 */
export function retainedFrom(nowMs: number, beforeTodayMs: number | null, retentionDays: number): number {
  const ageFrom = beforeTodayMs === null ? nowMs : Math.min(nowMs, startOfDay(beforeTodayMs) + MS_PER_DAY);
  return ageFrom - retentionDays * MS_PER_DAY;
}
