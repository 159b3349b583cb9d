// What the compiled module imports to wait: it suspends the module, and goes on after the event loop has turned.
// A message turns it at once, while timers of a page wait four milliseconds.
const channel = new MessageChannel();
let resume = null;
channel.port1.onmessage = () => {
    const go = resume;
    resume = null;
    go?.();
};

export const pause = new WebAssembly.Suspending(() => new Promise((resolve) => {
    resume = resolve;
    channel.port2.postMessage(0);
}));
