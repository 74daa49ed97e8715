import { useLayoutEffect, useMemo } from "preact/hooks";

/** A signal that aborts when the component is taken off the page. */
export function useUnmountSignal(): AbortSignal {
  const unmount = useMemo(() => new AbortController(), []);
  useLayoutEffect(() => () => unmount.abort(), []);
  return unmount.signal;
}
