/** The words of durations, ages and moments. */
export const TIMES = {
  hours: (hours: number) => `${hours} h`,
  days: (days: number) => `${days} days`,
  lessThanAMinute: "less than a minute",
  ago: (span: string) => `${span} ago`,
  /** A month within a day. Named here, because engines differ, and a page is written by the server and by the browser. */
  months: [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
  ],
  shortMonths: ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"],
  moment: (day: string, clock: string) => `${day}, ${clock}`,
  fullMoment: (day: string, clock: string) => `${day}, ${clock}`,
};
