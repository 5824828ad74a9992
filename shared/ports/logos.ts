/** What pages need to know of a merchant's logo. */
export interface LogoFacts {
  /** SHA-256 of the stored bytes, 64 hexadecimal digits: the name under which it is served. */
  readonly hash: string
  /** Pixels. */
  readonly width: number
  readonly height: number
  /** The ground on which it can be seen: a white logo with a transparent background needs a dark one. */
  readonly ground: 'light' | 'dark'
}

/** A picture that we encoded ourselves, as WebP. */
export interface Logo extends LogoFacts {
  readonly bytes: Uint8Array
}

/** Turns a file of a stranger into our own picture. */
export interface LogoReader {
  /**
   * Decodes a PNG, JPEG or WebP file and encodes its pixels again, small and without metadata. Throws `VALIDATION_ERROR` with path `image` for
   * anything else: another kind, too many bytes or pixels, or a file that cannot be decoded.
   */
  read(file: Uint8Array): Promise<Logo>
}
