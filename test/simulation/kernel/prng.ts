/** A seeded source of numbers. Equal seeds give equal sequences on every machine; nothing else is drawn from in a simulation. */
export interface Prng {
  /** From 0 up to, not including, 1. */
  next(): number
  /** A whole number from `min` to `max`, both included. */
  between(min: number, max: number): number
  /** True with this probability. */
  chance(probability: number): boolean
  /** One of a list that is not empty. */
  pick<T>(list: readonly T[]): T
  bytes(length: number): Uint8Array
  /** A separate source by name: drawing from it more or less often moves no other. */
  fork(name: string): Prng
}

/** sfc32 (Chris Doty-Humphrey, PractRand) under a seed of any text. */
export function createPrng(seed: string): Prng {
  let [a, b, c, d] = spread(seed)
  const word = (): number => {
    const sum = (((a + b) | 0) + d) | 0
    d = (d + 1) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = (c << 21) | (c >>> 11)
    c = (c + sum) | 0
    return sum >>> 0
  }
  for (let round = 0; round < 12; round += 1) word()
  const next = (): number => word() / 4_294_967_296
  return {
    next,
    between: (min, max) => min + Math.floor(next() * (max - min + 1)),
    chance: (probability) => next() < probability,
    pick: (list) => {
      const one = list[Math.floor(next() * list.length)]
      if (one === undefined) throw new RangeError('nothing to pick from')
      return one
    },
    bytes: (length) => Uint8Array.from({ length }, () => word() & 0xff),
    fork: (name) => createPrng(`${seed}/${name}`),
  }
}

/** Four words of a text: FNV-1a with four offsets, each mixed to its end. */
function spread(text: string): [number, number, number, number] {
  const word = (offset: number): number => {
    let hash = offset
    for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 16_777_619)
    hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
    hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
    return (hash ^ (hash >>> 16)) | 0
  }
  return [word(0x811c9dc5), word(0x9e3779b9), word(0x7f4a7c15), word(0x94d049bb)]
}
