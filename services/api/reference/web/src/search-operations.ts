/** One operation in Swagger UI's form: an immutable map. */
interface ShownOperation {
  get(key: 'path' | 'method'): string
  getIn(path: readonly string[], fallback: string): string
}

/** The operations of a tag, as an immutable list. */
interface Operations {
  readonly size: number
  filter(keep: (operation: ShownOperation) => boolean): Operations
}

/** Operations by tag, as an immutable map. */
interface TaggedOperations<Of> {
  map(change: (tag: Tag<Of>) => Tag<Of>): TaggedOperations<Of>
  filter(keep: (tag: Tag<Of>) => boolean): TaggedOperations<Of>
}

interface Tag<Of> {
  get(key: 'operations'): Of
  set(key: 'operations', operations: Of): Tag<Of>
}

/**
 * The operations that contain every word of the phrase in path, method, title, description or name, and the tags that still have one.
 * Swagger UI itself searches only the names of tags.
 */
export function searchOperations(tags: TaggedOperations<Operations>, phrase: string): TaggedOperations<Operations> {
  const words = phrase.toLowerCase().split(/\s+/).filter(Boolean)
  const matches = (operation: ShownOperation): boolean => {
    const texts = ['summary', 'description', 'operationId'].map((key) => operation.getIn(['operation', key], ''))
    const text = [operation.get('path'), operation.get('method'), ...texts].join(' ').toLowerCase()
    return words.every((word) => text.includes(word))
  }
  return tags
    .map((tag) => tag.set('operations', tag.get('operations').filter(matches)))
    .filter((tag) => tag.get('operations').size > 0)
}
