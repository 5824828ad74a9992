/**
 * What each of the lists has, as often as the one that has it least, sorted. Lists of the work of equal spans of time: background
 * work that falls into some of them is left out.
 */
export function inAll(lists: readonly (readonly string[])[]): readonly string[] {
  const [first = []] = lists
  const times = (list: readonly string[], one: string) => list.filter((other) => other === one).length
  return [...new Set(first)].toSorted().flatMap((one) => {
    const least = Math.min(...lists.map((list) => times(list, one)))
    return Array.from({ length: least }, () => one)
  })
}
