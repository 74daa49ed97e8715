import { type ReadonlySignal, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";

/** Whether the page is being printed: parts that are not rendered on screen belong on paper. */
export function usePrinting(): ReadonlySignal<boolean> {
  const isPrinting = useSignal(false);
  useEffect(() => {
    const query = matchMedia("print");
    const follow = ({ type }: Event) => {
      isPrinting.value = type === "beforeprint" || (type === "change" && query.matches);
    };
    const listening = new AbortController();
    query.addEventListener("change", follow, listening);
    addEventListener("beforeprint", follow, listening);
    addEventListener("afterprint", follow, listening);
    return () => listening.abort();
  }, []);
  return isPrinting;
}

/** Prints one part of the page without the others, which styles leave out for as long as it is marked. */
export function printAlone(part: Element | null | undefined): void {
  part?.toggleAttribute("data-printed-alone", true);
  addEventListener("afterprint", () => part?.removeAttribute("data-printed-alone"), { once: true });
  print();
}
