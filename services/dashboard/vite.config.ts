import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

/**
 * Every file costs a way there and back, six at a time where a proxy speaks HTTP/1.1. So libraries of all pages are one file, and
 * everything that many pages share is another; a page, a dialog and a menu are files of their own.
 */
const GROUPS = [
  {
    name: 'vendor',
    test: /node_modules\/(react|react-dom|scheduler|react-router|@tanstack|@trpc|clsx)\//,
    priority: 2,
  },
  { name: 'shared', minShareCount: 10, priority: 1 },
]

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react()],
  build: {
    modulePreload: { polyfill: false },
    target: 'es2022',
    chunkSizeWarningLimit: 1_000,
    rolldownOptions: { output: { codeSplitting: { groups: GROUPS } } },
  },
})
