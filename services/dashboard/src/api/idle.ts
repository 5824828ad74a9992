let lastSeenAt = Date.now()

for (const sign of ['pointerdown', 'keydown', 'wheel', 'touchstart'] as const) {
  window.addEventListener(
    sign,
    () => {
      lastSeenAt = Date.now()
    },
    { passive: true },
  )
}

/** Seconds since the person last touched the page: automatic requests must not keep a session alive. */
export function idleSeconds(): number {
  return Math.floor((Date.now() - lastSeenAt) / 1_000)
}
