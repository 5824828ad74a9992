/** Heights and hashes of blocks already scanned, oldest first. */
export type HashWindow = readonly (readonly [number, string])[]

/** Newest blocks that are all kept: more than any network's confirmations, and more than one step adds. */
const DENSE = 128
/** Of older blocks, the first known one of each group of so many heights is kept. */
const SPARSE = 64

/**
 * The window after further blocks: the newest 128 all stay, of older ones one in 64 back to twice the finality
 * depth, so that a reorganisation of any tolerated depth finds its fork in few requests. Where none of them is that deep, the newest block that is stays,
 * however old: a tolerated reorganisation never leaves the scanner without a common block.
 */
export function extendWindow(window: HashWindow, blocks: HashWindow, finalityDepth: number): HashWindow {
  const all = [...window, ...blocks]
  const newest = all.at(-1)?.[0] ?? 0
  const depthMax = Math.max(2 * finalityDepth, 2 * DENSE)
  const depthOf = ([height]: HashWindow[number]) => newest - height
  const kept = all.filter((entry, index) => {
    if (depthOf(entry) < DENSE) return true
    return depthOf(entry) <= depthMax && groupOf(entry) !== groupOf(all[index - 1])
  })
  const isDeep = (entry: HashWindow[number]) => depthOf(entry) >= finalityDepth
  if (kept.some(isDeep)) return kept
  const deepest = all.findLast(isDeep) ?? all[0]
  return deepest === undefined || kept[0] === deepest ? kept : [deepest, ...kept]
}

const groupOf = (entry: HashWindow[number] | undefined): number => Math.floor((entry?.[0] ?? -SPARSE) / SPARSE)

/** The window of a cursor that goes back to a block, which is its last entry. */
export function windowUpTo(window: HashWindow, { height, hash }: { height: number; hash: string }): HashWindow {
  return [...cutWindow(window, height - 1), [height, hash]]
}

/** The window without the blocks above a fork. */
export function cutWindow(window: HashWindow, forkHeight: number): HashWindow {
  return window.filter(([height]) => height <= forkHeight)
}
