/** A page's title: trouble first, since a tab shows only its beginning. */
export function pageTitle(title: string, troubled: number): string {
  return `${troubled > 0 ? `${troubled} in trouble · ` : ""}${title} · Stackroom`;
}
