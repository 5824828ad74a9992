/** Opcodes used by the listings (Ethereum Yellow Paper, appendix H). */
const OPCODES: Readonly<Record<string, number>> = {
  ADD: 0x01,
  SUB: 0x03,
  LT: 0x10,
  EQ: 0x14,
  AND: 0x16,
  SHR: 0x1c,
  KECCAK256: 0x20,
  CALLER: 0x33,
  CALLDATALOAD: 0x35,
  CALLDATASIZE: 0x36,
  MSTORE: 0x52,
  SLOAD: 0x54,
  SSTORE: 0x55,
  JUMP: 0x56,
  JUMPI: 0x57,
  DUP1: 0x80,
  DUP2: 0x81,
  DUP3: 0x82,
  SWAP1: 0x90,
  LOG3: 0xa3,
  RETURN: 0xf3,
  REVERT: 0xfd,
}
const PUSH1 = 0x60
const PUSH2 = 0x61
const JUMPDEST = 0x5b

/**
 * Turns a listing into EVM bytecode, `0x…`. Words are separated by white space, `;` starts a comment. `name:` defines a
 * jump target, `@name` pushes its position, `0x…` pushes that constant, the rest are opcodes. Throws on anything else.
 */
export function assemble(listing: string): string {
  const words = listing
    .replace(/;.*/g, '')
    .split(/\s+/)
    .filter((word) => word !== '')
  const code: number[] = []
  const targets = new Map<string, number>()
  const references: { readonly at: number; readonly name: string }[] = []
  for (const word of words) {
    if (word.endsWith(':')) {
      targets.set(word.slice(0, -1), code.length)
      code.push(JUMPDEST)
    } else if (word.startsWith('@')) {
      references.push({ at: code.length + 1, name: word.slice(1) })
      code.push(PUSH2, 0, 0)
    } else if (word.startsWith('0x')) {
      const constant = Buffer.from(word.slice(2), 'hex')
      code.push(PUSH1 + constant.length - 1, ...constant)
    } else {
      const opcode = OPCODES[word]
      if (opcode === undefined) throw new Error(`no opcode ${word}`)
      code.push(opcode)
    }
  }
  for (const { at, name } of references) {
    const target = targets.get(name)
    if (target === undefined) throw new Error(`no jump target ${name}`)
    code[at] = target >> 8
    code[at + 1] = target & 0xff
  }
  return `0x${Buffer.from(code).toString('hex')}`
}
