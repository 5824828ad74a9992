/** The latest time that a date can hold, milliseconds (ECMA-262, 21.4.1.1): a block of a later one cannot be stored, and is none. */
export const TIME_MAX_MS = 8.64e15
