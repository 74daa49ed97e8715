/** The address of a volume's run viewer; `live` follows the log until the run ends (spec, Endpoints). */
export function runLogPath(logUrl: string, manifestUrl: string | null, live: boolean): string {
  const manifest = manifestUrl === null ? "" : `&manifest=${encodeURIComponent(manifestUrl)}`;
  return `/log?log=${encodeURIComponent(logUrl)}${manifest}${live ? "&live=1" : ""}`;
}

/** The address of the login page that leads back to where the reader is. */
export function loginPath(next: string): string {
  return next === "/" ? "/login" : `/login?next=${encodeURIComponent(next)}`;
}
