/** The number of an address from which on a list is shown; 0 for what is none. */
export function firstNumber(text: string | null): number {
  return /^[0-9]{1,9}$/.test(text ?? "") ? Number(text) : 0;
}
