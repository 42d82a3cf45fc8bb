//! What runs on nodes: the registry of images and the processes of containers.
