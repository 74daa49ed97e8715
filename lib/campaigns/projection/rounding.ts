/** A number rounded to an integer, halves to the even neighbour. */
export function roundToEven(value: number): number {
  const floor = Math.floor(value);
  const rest = value - floor;
  if (rest !== 0.5) return rest < 0.5 ? floor : floor + 1;
  return floor % 2 === 0 ? floor : floor + 1;
}

/**
 * A number of 0..1 rounded to four decimals, exact halves to the even neighbour. `toFixed` rounds by the exact binary
 * value too, but takes exact halves up; at four decimals those are the odd multiples of 1/32.
 */
export function roundScore(value: number): number {
  const isHalf = Number.isInteger(value * 32) && Math.abs(value * 32) % 2 === 1;
  return isHalf ? roundToEven(value * 10_000) / 10_000 : Number(value.toFixed(4));
}
