import type { Lie } from './lying-node.ts'

/**
 * A contract creation of 37 bytes whose trace is 80 MB: it calls an account with a megabyte of memory as input, 40 times, and
 * every frame of a trace holds its input.
 */
export const TRACE_BOMB = {
  data: '0x6000620fffe0526028' + '5b' + '60006000621000006000600061dead5af150' + '6001900380600957' + '00',
  gas: '0x4c4b40',
} as const

/** Whether a call asks for traces, of a block or of one transaction. */
export const asksTraces = ({ method }: Parameters<Lie>[0]): boolean => method.includes('trace')
