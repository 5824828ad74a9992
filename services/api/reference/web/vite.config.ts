import { defineConfig } from 'vite'

/** The page is served at `/api/v1/docs`; its policy allows no inline script. */
export default defineConfig({
  root: import.meta.dirname,
  base: '/api/v1/docs/',
  build: { modulePreload: { polyfill: false }, target: 'es2022', assetsInlineLimit: 0, chunkSizeWarningLimit: 2_000 },
})
