import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";

/** Whether the page is printed at this moment: what is left out of the screen belongs on paper. */
export function usePrinting(): boolean {
  const isPrinting = useSignal(false);
  useEffect(() => {
    const query = matchMedia("print");
    const follow = () => isPrinting.value = query.matches;
    const begin = () => isPrinting.value = true;
    const end = () => isPrinting.value = false;
    query.addEventListener("change", follow);
    addEventListener("beforeprint", begin);
    addEventListener("afterprint", end);
    return () => {
      query.removeEventListener("change", follow);
      removeEventListener("beforeprint", begin);
      removeEventListener("afterprint", end);
    };
  }, []);
  return isPrinting.value;
}

/** Prints one part of the page without the others, which styles leave out for as long as it is marked. */
export function printAlone(part: Element | null | undefined): void {
  part?.toggleAttribute("data-printed-alone", true);
  addEventListener("afterprint", () => part?.removeAttribute("data-printed-alone"), { once: true });
  print();
}
