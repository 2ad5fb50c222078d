from tests.running import locked_url, url

__all__ = ["locked_url", "url"]
