import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react()],
  build: { modulePreload: { polyfill: false }, target: 'es2022', chunkSizeWarningLimit: 1_000 },
})
