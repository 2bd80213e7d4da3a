// The light build has the same interface and no types of its own.
declare module 'bottleneck/light.js' {
  export { default } from 'bottleneck'
}
