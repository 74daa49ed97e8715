import type * as en from "@/locales/en/times.ts";

export const TIMES: typeof en.TIMES = {
  hours: (hours) => `${hours} tim`,
  days: (days) => `${days} dagar`,
  lessThanAMinute: "mindre än en minut",
  ago: (span) => `för ${span} sedan`,
  months: [
    "januari",
    "februari",
    "mars",
    "april",
    "maj",
    "juni",
    "juli",
    "augusti",
    "september",
    "oktober",
    "november",
    "december",
  ],
  shortMonths: ["jan.", "feb.", "mars", "apr.", "maj", "juni", "juli", "aug.", "sep.", "okt.", "nov.", "dec."],
  moment: (day, clock) => `${day} ${clock}`,
  fullMoment: (day, clock) => `${day} kl. ${clock}`,
};
