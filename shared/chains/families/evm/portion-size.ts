/** Transactions and logs of a portion: about 1 KB each once parsed. */
const ITEMS_MAX = 8_000
const FIRST_BLOCKS = 16

/** How many blocks are in memory at once, with their transactions and logs. */
export interface PortionSize {
  readonly blocks: number
  /** Records that this many blocks contained this many transactions and logs. */
  learn(blocks: number, items: number): void
}

/** Starts small, doubles while whole portions leave room, and shrinks at once where blocks are full; never below one block. */
export function createPortionSize(itemsMax: number = ITEMS_MAX): PortionSize {
  let size = FIRST_BLOCKS
  return {
    get blocks() {
      return size
    },
    learn(blocks, items) {
      const fitting = Math.floor((itemsMax * blocks) / Math.max(1, items))
      size = Math.max(1, Math.min(fitting, blocks < size ? size : size * 2))
    },
  }
}
