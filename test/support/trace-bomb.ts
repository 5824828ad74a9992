import type { Lie } from './lying-node.ts'

/** `CALL` of an account with a megabyte of memory as input, 40 times: every frame of a trace holds its input. */
const bombFrom = (loop: number) =>
  `620fffe0526028${'5b'}60006000621000006000600061dead5af150600190038060${loop.toString(16).padStart(2, '0')}5700`

/** A contract creation of 37 bytes whose trace is 80 MB. */
export const TRACE_BOMB = { data: `0x6000${bombFrom(9)}`, gas: '0x4c4b40' } as const

/** The same that pays an account inside of a call before: no node can show that move. */
export function payingBomb(
  account: string,
  wei: number,
): { readonly data: string; readonly gas: string; readonly value: string } {
  const value = wei.toString(16).padStart(2, '0')
  const call = `600060006000600060${value}73${account.slice(2).toLowerCase()}5af150`
  return { ...TRACE_BOMB, data: `0x${call}6000${bombFrom(9 + call.length / 2)}`, value: `0x${value}` }
}

/** Whether a call asks for the traces of this block, or of one of these transactions. */
export function asksTraces(
  { method, params: [asked] }: Parameters<Lie>[0],
  height: number,
  txHashes: readonly string[] = [],
): boolean {
  return method.includes('trace') && (asked === `0x${height.toString(16)}` || txHashes.includes(String(asked)))
}
